// Texts that only one page needs. They are loaded with the page, in every language, so that the console loads without them.
import type { PageTexts } from './texts.ts'

const added: Readonly<Record<'en' | 'de', Partial<PageTexts>>> = { en: {}, de: {} }

/** Adds the texts of a page. The file of the page calls this function before the page is rendered. */
export function addPageTexts({ en, de }: Readonly<Record<'en' | 'de', PageTexts>>): void {
  Object.assign(added.en, en)
  Object.assign(added.de, de)
}

/** Returns the texts that pages have added. The object changes when another page is loaded. */
export const getPageTexts = (language: 'en' | 'de'): Partial<PageTexts> => added[language]
