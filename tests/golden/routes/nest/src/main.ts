import { VersioningType } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';

async function bootstrap() {
  const settings = await NestFactory.create(AppModule);
  const app = await NestFactory.create<Application>(AppModule, { cors: true });
  app.setGlobalPrefix('api');
  app.enableVersioning({ type: VersioningType.URI });
  await app.listen(3000);
}
bootstrap();
