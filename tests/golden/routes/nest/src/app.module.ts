import { Module, forwardRef } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { AppController } from './app.controller';
import { CatsModule } from './cats/cats.module';
import { DogsModule } from './dogs';

const common = [ConfigModule.forRoot({ isGlobal: true })];
const animals = common.concat([forwardRef(() => DogsModule)]);
animals.push(CatsModule.register());

@Module({
  imports: [...(process.env.ANIMALS ? animals : [])],
  controllers: [AppController],
})
export class AppModule {}
