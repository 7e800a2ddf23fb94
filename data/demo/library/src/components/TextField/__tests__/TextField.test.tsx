import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { TextField } from "../TextField";

describe("TextField", () => {
  it("is named by its label", () => {
    render(<TextField label="Vessel" />);
    expect(screen.getByLabelText("Vessel")).toBeVisible();
  });

  it("takes what is typed", async () => {
    render(<TextField label="Vessel" />);
    await userEvent.type(screen.getByLabelText("Vessel"), "Cutty Sark");
    expect(screen.getByLabelText("Vessel")).toHaveValue("Cutty Sark");
  });

  it("shows the hint", () => {
    render(<TextField label="Vessel" hint="As in the register" />);
    expect(screen.getByText("As in the register")).toBeVisible();
  });

  it("shows the error in place of the hint", () => {
    render(<TextField label="Draught" hint="In metres" error="Enter a number" />);
    expect(screen.getByText("Enter a number")).toBeVisible();
    expect(screen.queryByText("In metres")).not.toBeInTheDocument();
  });
});
