const Blog = () => <main />;
export default Blog;
