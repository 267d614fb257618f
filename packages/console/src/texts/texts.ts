// The shape of the texts that every language must have.
import type { en } from './en.ts'
import type { provisioning } from './provisioning.en.ts'

/** The type of the same texts in another language. */
export type TextsOf<English> = {
  readonly [Key in keyof English]: English[Key] extends string ? string : English[Key]
}
/** Texts that are loaded with the console. */
export type Texts = TextsOf<typeof en>
/** Texts that are loaded with the page that uses them. */
export type PageTexts = TextsOf<typeof provisioning>
type AllTexts = Texts & PageTexts
export type TextKey = keyof AllTexts
type Values<Key extends TextKey> = AllTexts[Key] extends (...values: infer V) => string ? V : []

/** Returns the text for a key in the current language, with its values inserted. */
export type Translate = <Key extends TextKey>(key: Key, ...values: Values<Key>) => string

/**
 * Characters that change the direction of the text after them. In a name, they would also affect the rest of the
 * sentence.
 */
const directionControls = /[\u202A-\u202E\u2066-\u2069]/g

const noTexts: Partial<PageTexts> = {}

/** Returns the translate function for one language. Texts of pages can be added later. */
export function createTranslate(texts: Texts, pageTexts = noTexts): Translate {
  return (key, ...values) => {
    const text = (texts[key as keyof Texts] ?? pageTexts[key as keyof PageTexts]) as
      string | ((...values: readonly unknown[]) => string)
    if (typeof text === 'string') return text
    return text(
      ...values.map((value) => (typeof value === 'string' ? value.replaceAll(directionControls, '') : value)),
    )
  }
}
