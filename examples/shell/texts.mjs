// Translates the page into the user's language.
import { ResponseError, languagePack } from '../../packages/client/src/index.ts'

/** Returns the first browser language that the tenant has enabled, or the default locale of the tenant. */
export function chooseLocale({ enabledLocales: enabled, defaultLocale: fallback }, languages) {
  const knownLocales = new Set(enabled.map((locale) => locale.toLowerCase()))
  const isEnabled = (language) => knownLocales.has(language) || knownLocales.has(language.split('-', 1)[0])
  return (
    languages.find((language) => isEnabled(language.toLowerCase())) ?? (fallback === '' ? 'en' : fallback)
  )
}

/** Returns the value of an own property, because keys can have inherited names such as `constructor`. */
const getOwn = (value, name) =>
  typeof value === 'object' && Object.hasOwn(value, name) ? value[name] : undefined

/**
 * Loads the language pack of a locale. `text(key, values)` returns the key itself if the pack has no
 * translation.
 */
export async function loadTexts(manager, applicationId, locale) {
  const pack = await languagePack(manager, { applicationId, locale }).catch((error) => {
    if (error instanceof ResponseError && error.status === 404) return { locale: 'en', messages: {} }
    throw error
  })
  const findText = (key) => {
    let found = pack.messages
    for (const name of key.split('.')) found = getOwn(found, name)
    // A key can have its own translation and also be the prefix of other keys.
    return typeof found === 'object' ? getOwn(found, '') : found
  }
  const text = (key, values = {}) =>
    (findText(key) ?? key).replaceAll(/\{(\w+)\}/g, (whole, name) => String(getOwn(values, name) ?? whole))
  return { locale: pack.locale, text, has: (key) => findText(key) !== undefined }
}

/** Writes each translation into the elements whose `data-text` attribute contains its key. */
export function showTexts({ locale, text, has }) {
  document.documentElement.lang = locale
  for (const element of document.querySelectorAll('[data-text]'))
    if (has(element.dataset.text) === true) element.textContent = text(element.dataset.text)
}
