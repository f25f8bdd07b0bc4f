import { Module } from '@nestjs/common';
import { CatsController, OldCatsController } from './cats.controller';

@Module({ controllers: [CatsController, OldCatsController], providers: [] })
export class CatsModule {
  static register() { return { module: CatsModule }; }
}
