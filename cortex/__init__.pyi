from cortex.front.programs.code_library import AsyncProject as AsyncProject
from cortex.front.programs.code_library import Project as Project
from cortex.front.programs.code_results import Answer as Answer
from cortex.front.programs.code_results import Hit as Hit
from cortex.front.programs.code_results import Index as Index
from cortex.front.programs.code_results import Source as Source
from cortex.front.programs.code_results import Use as Use
from cortex.system.errors import BadRequest as BadRequest
from cortex.system.errors import CortexError as CortexError
from cortex.system.errors import Misconfigured as Misconfigured
from cortex.system.errors import NotFound as NotFound
from cortex.system.errors import TooLarge as TooLarge
from cortex.system.errors import Unavailable as Unavailable

__version__: str
