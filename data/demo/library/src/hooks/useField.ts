import { useFieldId } from "./useFieldId";

interface FieldOptions {
  id?: string;
}

/** The attributes that tie the label and the input of a form field together. */
export function useField({ id }: FieldOptions) {
  const fieldId = useFieldId(id);
  return {
    labelProps: { htmlFor: fieldId },
    inputProps: { id: fieldId },
  };
}
