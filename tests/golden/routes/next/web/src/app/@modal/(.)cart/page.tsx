export default function Modal() { return <main />; }
