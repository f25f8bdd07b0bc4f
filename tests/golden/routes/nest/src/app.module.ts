import { Module, forwardRef } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { AppController } from './app.controller';
import { CatsModule } from './cats/cats.module';
import { DogsModule } from './dogs';

@Module({
  imports: [ConfigModule.forRoot({ isGlobal: true }), CatsModule.register(), forwardRef(() => DogsModule)],
  controllers: [AppController],
})
export class AppModule {}
