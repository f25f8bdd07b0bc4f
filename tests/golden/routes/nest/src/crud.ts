import { Delete } from '@nestjs/common';

export abstract class Crud {
  @Delete(':id')
  drop() { return ''; }
}
