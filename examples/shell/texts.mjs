// The texts of the page, in the language of the person.
import { ResponseError, languagePack } from '../../packages/client/src/index.ts'

/** The first language of the browser that the tenant has enabled, else the default of the tenant. */
export function chooseLocale({ enabledLocales: enabled, defaultLocale: otherwise }, languages) {
  const known = new Set(enabled.map((locale) => locale.toLowerCase()))
  const fits = (language) => known.has(language) || known.has(language.split('-', 1)[0])
  return languages.find((language) => fits(language.toLowerCase())) ?? (otherwise === '' ? 'en' : otherwise)
}

/** Only properties of its own: `constructor` is a key like any other. */
const own = (value, name) =>
  typeof value === 'object' && Object.hasOwn(value, name) ? value[name] : undefined

/** The pack of a locale: `text(key, values)`, which is the key where the pack has no text, and the locale it is in. */
export async function loadTexts(manager, applicationId, locale) {
  const pack = await languagePack(manager, { applicationId, locale }).catch((error) => {
    if (error instanceof ResponseError && error.status === 404) return { locale: 'en', messages: {} }
    throw error
  })
  const find = (key) => {
    let found = pack.messages
    for (const name of key.split('.')) found = own(found, name)
    // A key may have a text of its own and be the beginning of others.
    return typeof found === 'object' ? own(found, '') : found
  }
  const text = (key, values = {}) =>
    (find(key) ?? key).replaceAll(/\{(\w+)\}/g, (whole, name) => String(own(values, name) ?? whole))
  return { locale: pack.locale, text, has: (key) => find(key) !== undefined }
}

/** Writes the texts into the parts of the page that name them. */
export function showTexts({ locale, text, has }) {
  document.documentElement.lang = locale
  for (const part of document.querySelectorAll('[data-text]'))
    if (has(part.dataset.text) === true) part.textContent = text(part.dataset.text)
}
