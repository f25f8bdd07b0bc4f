import { All, Body, Controller, Delete, Get, Param, Post, Put, UseGuards, Version } from '@nestjs/common';
import { Crud } from '../crud';

const ID = ':id';

@UseGuards(Guard)
@Controller({ path: 'cats', version: '1' })
export class CatsController extends Crud {
  @Get() list() { return this.find(); }

  @Get(ID)
  @UseGuards(Guard)
  async show(@Param('id') id: string) { return ''; }

  @Post([`${ID}/feed`, 'feed'])
  feed(@Body() food: string) { return ''; }

  @Version('2')
  @Put(':id')
  change() { return ''; }

  @All('*')
  other() { return ''; }

  find() { return ''; }

  drop() { return ''; }
}

@Controller('old/cats')
export class OldCatsController {
  @Delete(':id')
  drop() { return ''; }
}
