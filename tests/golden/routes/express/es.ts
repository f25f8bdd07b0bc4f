import express, { Router, Request, Response } from 'express';
import items from './items';
export const app = express();
const PREFIX = '/ts';
app.use(`${PREFIX}/items`, items);
app.patch(PREFIX + '/me', async (req: Request, res: Response) => { });
app.get(process.env.X + '/computed', me);
function me() {}
