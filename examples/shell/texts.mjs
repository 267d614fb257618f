// The texts of the page, in the language of the user.
import { ResponseError, languagePack } from '../../packages/client/src/index.ts'

/** Returns the first language of the browser that the tenant has enabled, or the default of the tenant. */
export function chooseLocale({ enabledLocales: enabled, defaultLocale: fallback }, languages) {
  const known = new Set(enabled.map((locale) => locale.toLowerCase()))
  const isEnabled = (language) => known.has(language) || known.has(language.split('-', 1)[0])
  return (
    languages.find((language) => isEnabled(language.toLowerCase())) ?? (fallback === '' ? 'en' : fallback)
  )
}

/** Reads only own properties: `constructor` is a key like any other. */
const own = (value, name) =>
  typeof value === 'object' && Object.hasOwn(value, name) ? value[name] : undefined

/** Loads the pack of a locale. `text(key, values)` returns the key itself if the pack has no text for it. */
export async function loadTexts(manager, applicationId, locale) {
  const pack = await languagePack(manager, { applicationId, locale }).catch((error) => {
    if (error instanceof ResponseError && error.status === 404) return { locale: 'en', messages: {} }
    throw error
  })
  const find = (key) => {
    let found = pack.messages
    for (const name of key.split('.')) found = own(found, name)
    // A key can have its own text and also be the prefix of others.
    return typeof found === 'object' ? own(found, '') : found
  }
  const text = (key, values = {}) =>
    (find(key) ?? key).replaceAll(/\{(\w+)\}/g, (whole, name) => String(own(values, name) ?? whole))
  return { locale: pack.locale, text, has: (key) => find(key) !== undefined }
}

/** Writes the texts into the elements that name them. */
export function showTexts({ locale, text, has }) {
  document.documentElement.lang = locale
  for (const part of document.querySelectorAll('[data-text]'))
    if (has(part.dataset.text) === true) part.textContent = text(part.dataset.text)
}
