import App from "./Card.vue"; import("./lib/MyBox.vue").then(m => m.default); App();
