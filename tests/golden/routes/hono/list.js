export const list = (c) => c.text('list');
