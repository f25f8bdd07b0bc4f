export default function App() { return <main />; }
