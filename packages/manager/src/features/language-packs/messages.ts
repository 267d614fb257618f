// Locales, and flat keys as the nested objects frontends read. Pure.
import type { KeyValuePair } from '../../platform/key-value-pairs.ts'

const localeForm = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/
const maxLocaleLength = 35

/** Whether the text has the form of a locale: a language and further parts joined by hyphens. */
export const isLocale = (text: string): boolean => text.length <= maxLocaleLength && localeForm.test(text)

/** The locale itself and, after it, what it falls back to. */
export function localesFor(locale: string): string[] {
  const [language = ''] = locale.split('-')
  return language === locale ? [locale] : [locale, language]
}

/** Whether the key is made of parts joined by dots, none of them empty. */
export const isMessageKey = (key: string): boolean => key.split('.').every((part) => part !== '')

type Branch = { [part: string]: string | Branch }

// An object without a prototype: every name, `__proto__` too, is an ordinary one.
const newBranch = (): Branch => Object.create(null) as Branch

/** Expands keys at their dots. A key that is both a text and a branch keeps the branch, with the text under "". */
export function expandMessages(content: readonly KeyValuePair[]): Branch {
  const root = newBranch()
  for (const { Key, Value } of content) {
    let branch = root
    const parts = Key.split('.')
    const last = parts.pop() ?? ''
    for (const part of parts) branch = branchAt(branch, part)
    const present = branch[last]
    if (typeof present === 'object') present[''] = Value
    else branch[last] = Value
  }
  return root
}

function branchAt(parent: Branch, part: string): Branch {
  const present = parent[part]
  if (typeof present === 'object') return present
  const branch = newBranch()
  if (present !== undefined) branch[''] = present
  parent[part] = branch
  return branch
}
