"""A private folder that cannot be used is named with the way out."""

from __future__ import annotations

import errno
import os

import pytest

from cortex.settings.folders.home import private_dir
from cortex.system.errors import Misconfigured
from cortex.system.folders.folder_faults import explain_folder


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_folder_that_another_user_made_first_is_named_with_the_variable_to_set(tmp_path):
    """As `/tmp/cortex-<uid>` where there is no XDG_RUNTIME_DIR: nobody else can move it away."""
    (tmp_path / "cortex-0").mkdir()
    os.chown(tmp_path / "cortex-0", 65534, 65534)
    with pytest.raises(Misconfigured, match=r"another user, and only that user .*set XDG_RUNTIME_DIR"):
        private_dir(tmp_path / "cortex-0")


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_place_that_cannot_be_written_is_not_called_a_link(tmp_path, code):
    sentence = explain_folder(tmp_path / "new", OSError(code, os.strerror(code)))
    assert sentence.startswith(f"Cannot make {tmp_path / 'new'}: {os.strerror(code)}; make the folder above")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(Misconfigured, match="must be a real folder owned by you"):
        private_dir(tmp_path / "link")
