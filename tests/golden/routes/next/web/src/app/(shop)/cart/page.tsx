function Cart() { return <main />; }
export default withUser(Cart);
