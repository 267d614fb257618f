// Validates locales and expands flat keys to the nested objects that frontends read.
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'

const localeForm = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/
const maxLocaleLength = 35

/** Returns whether the text has the form of a locale: a language and further parts joined by hyphens. */
export const isLocale = (text: string): boolean => text.length <= maxLocaleLength && localeForm.test(text)

/** Returns the locale followed by its language, in lookup order. */
export function localesFor(locale: string): string[] {
  const [language = ''] = locale.split('-')
  return language === locale ? [locale] : [locale, language]
}

const maxParts = 20
const maxTotalParts = 100_000

/** Returns an error message for the first invalid key, or null if all keys are valid. */
export function findKeyProblem(content: readonly KeyValuePair[]): string | null {
  let totalParts = 0
  for (const { Key } of content) {
    const parts = Key.split('.')
    if (parts.includes(''))
      return `the Key ${JSON.stringify(Key)} of content has an empty part; write parts joined by single dots`
    if (canChangePrototype(parts))
      return `the Key ${JSON.stringify(Key)} of content would change the prototype of objects in frontends that merge texts; rename it`
    if (parts.length > maxParts) return `every Key of content must have at most ${maxParts} parts`
    totalParts += parts.length
  }
  return totalParts > maxTotalParts
    ? `the keys of content must have at most ${maxTotalParts} parts in total`
    : null
}

/** Returns whether a frontend that merges nested texts by these names would modify the prototype of every object. */
const canChangePrototype = (parts: readonly string[]): boolean =>
  parts.includes('__proto__') ||
  parts.some((part, index) => part === 'constructor' && parts[index + 1] === 'prototype')

interface Branch {
  [part: string]: string | Branch
}
// Instances inherit no properties, so every name is an ordinary property, including `__proto__` and `constructor`. They
// are faster to create than objects from Object.create(null).
const BranchObject = function () {} as unknown as new () => Branch
BranchObject.prototype = Object.create(null)

/** Expands keys at their dots. A key that is both a text and a branch keeps the branch, with the text under "". */
export function expandMessages(content: readonly KeyValuePair[]): Branch {
  const root = new BranchObject()
  for (const { Key, Value } of content) {
    let branch = root
    const parts = Key.split('.')
    const last = parts.pop() ?? ''
    for (const part of parts) branch = branchAt(branch, part)
    const existing = branch[last]
    if (typeof existing === 'object') existing[''] = Value
    else branch[last] = Value
  }
  return root
}

function branchAt(parent: Branch, part: string): Branch {
  const existing = parent[part]
  if (typeof existing === 'object') return existing
  const branch = new BranchObject()
  if (existing !== undefined) branch[''] = existing
  parent[part] = branch
  return branch
}
