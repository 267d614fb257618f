// Locales, and flat keys as the nested objects frontends read. Pure.
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'

const localeForm = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/
const maxLocaleLength = 35

/** Whether the text has the form of a locale: a language and further parts joined by hyphens. */
export const isLocale = (text: string): boolean => text.length <= maxLocaleLength && localeForm.test(text)

/** The locale itself and, after it, what it falls back to. */
export function localesFor(locale: string): string[] {
  const [language = ''] = locale.split('-')
  return language === locale ? [locale] : [locale, language]
}

const maxParts = 20
const maxPartsInAll = 100_000

/** What is wrong with keys as parts joined by dots, as a text; null when nothing is. */
export function problemOfKeys(content: readonly KeyValuePair[]): string | null {
  let inAll = 0
  for (const { Key } of content) {
    const parts = Key.split('.')
    if (parts.includes(''))
      return `the Key ${JSON.stringify(Key)} of content has an empty part; write parts joined by single dots`
    if (namesPrototype(parts))
      return `the Key ${JSON.stringify(Key)} of content names the prototype of an object, which frontends that merge texts would change; rename it`
    if (parts.length > maxParts) return `every Key of content must have at most ${maxParts} parts`
    inAll += parts.length
  }
  return inAll > maxPartsInAll
    ? `the keys of content must have at most ${maxPartsInAll} parts together`
    : null
}

/** Whether a frontend that merges nested texts by these names would reach the prototype of every object. */
const namesPrototype = (parts: readonly string[]): boolean =>
  parts.includes('__proto__') ||
  parts.some((part, index) => part === 'constructor' && parts[index + 1] === 'prototype')

interface Branch {
  [part: string]: string | Branch
}
// Instances have no name but their own: every one, `__proto__` and `constructor` too, is an ordinary property. Unlike
// those of Object.create(null) they are quick to make.
const NewBranch = function () {} as unknown as new () => Branch
NewBranch.prototype = Object.create(null)

/** Expands keys at their dots. A key that is both a text and a branch keeps the branch, with the text under "". */
export function expandMessages(content: readonly KeyValuePair[]): Branch {
  const root = new NewBranch()
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
  const branch = new NewBranch()
  if (present !== undefined) branch[''] = present
  parent[part] = branch
  return branch
}
