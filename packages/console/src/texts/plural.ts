// Plural forms for one language. The formatted number replaces `#` in a form.
export type PluralForms = { readonly other: string } & { readonly [Rule in Intl.LDMLPluralRule]?: string }

/** Returns a function that selects the form for a number and inserts the number. */
export function createPlural(language: string): (count: number, forms: PluralForms) => string {
  const rules = new Intl.PluralRules(language)
  const numbers = new Intl.NumberFormat(language)
  return (count, forms) => (forms[rules.select(count)] ?? forms.other).replace('#', numbers.format(count))
}
