import "../src/tokens/index.css";
