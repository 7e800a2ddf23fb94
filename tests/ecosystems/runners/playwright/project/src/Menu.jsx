export const Menu = ({ label }) => <nav aria-label={label} />;
