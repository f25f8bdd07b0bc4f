export default async () => <main />;
