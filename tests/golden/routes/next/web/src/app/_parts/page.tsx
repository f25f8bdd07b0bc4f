export default function Part() { return <main />; }
