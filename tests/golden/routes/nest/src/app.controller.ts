import { Controller, Get } from '@nestjs/common';
import { paths } from './paths';

@Controller()
export class AppController {
  @Get()
  home() { return ''; }

  @Get(paths.ready)
  ready() { return ''; }
}
