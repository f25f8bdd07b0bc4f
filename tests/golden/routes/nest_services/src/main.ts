import { NestFactory } from '@nestjs/core';
import { AppModule } from './app';

async function main() {
  const app = await NestFactory.create(AppModule);
  await app.listen(1);
}
