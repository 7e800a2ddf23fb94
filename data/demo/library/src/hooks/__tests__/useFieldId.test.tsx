import { render, screen } from "@testing-library/react";
import { useFieldId } from "../useFieldId";

function Field({ id }: { id?: string }) {
  return <input id={useFieldId(id)} />;
}

function renderedIds(): string[] {
  return screen.getAllByRole("textbox").map((input) => input.id);
}

describe("useFieldId", () => {
  it("keeps the id that it is given", () => {
    render(<Field id="berth" />);
    expect(renderedIds()).toEqual(["berth"]);
  });

  it("keeps its id when the field renders again", () => {
    const { rerender } = render(<Field />);
    const before = renderedIds();
    rerender(<Field />);
    expect(renderedIds()).toEqual(before);
  });

  it("ids never collide", () => {
    const fields = Array.from({ length: 38 }, (_, index) => <Field key={index} />);
    render(<form>{fields}</form>);
    expect(new Set(renderedIds()).size).toBe(38);
  });
});
