import { Controller, Get, Module } from '@nestjs/common';

@Controller(['dogs', 'hounds'])
class DogsController {
  @Get('bark')
  bark() { return ''; }
}

@Module({ controllers: [DogsController] })
export class DogsModule {}

@Controller('lost')
export class LostController {
  @Get()
  lost() { return ''; }
}
