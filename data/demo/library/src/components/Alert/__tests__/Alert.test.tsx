import { render, screen } from "@testing-library/react";
import { Alert } from "../Alert";

describe("Alert", () => {
  it("shows its title and its body", () => {
    render(<Alert title="Berth lost">Call the harbour master.</Alert>);
    expect(screen.getByText("Berth lost")).toBeVisible();
    expect(screen.getByText("Call the harbour master.")).toBeVisible();
  });

  it("takes its colour from the tone", () => {
    const { container } = render(<Alert tone="danger">Berth lost</Alert>);
    expect(container.firstChild).toHaveClass("hb-alert--danger");
  });
});
