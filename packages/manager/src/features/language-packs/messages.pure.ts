// Validates locales and expands flat keys to the nested objects that frontends read.
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'

const localePattern = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/
const maxLocaleLength = 35

/**
 * Returns whether the string has the form of a locale: a language, optionally followed by subtags that are separated by
 * hyphens.
 */
export const isLocale = (text: string): boolean => text.length <= maxLocaleLength && localePattern.test(text)

/** Returns the locale followed by its language, in lookup order. */
export function listLookupLocales(locale: string): string[] {
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
      return `Key ${JSON.stringify(Key)} in content has an empty part; join the parts with single dots`
    if (canChangePrototype(parts))
      return `Key ${JSON.stringify(Key)} in content would change the prototype of objects in frontends that merge translations; rename it`
    if (parts.length > maxParts) return `every Key of content must have at most ${maxParts} parts`
    totalParts += parts.length
  }
  return totalParts > maxTotalParts
    ? `the keys of content must have at most ${maxTotalParts} parts in total`
    : null
}

/**
 * Returns whether merging nested translations under these names would modify the prototype of every object in
 * a frontend.
 */
const canChangePrototype = (parts: readonly string[]): boolean =>
  parts.includes('__proto__') ||
  parts.some((part, index) => part === 'constructor' && parts[index + 1] === 'prototype')

interface Branch {
  [part: string]: string | Branch
}
// Instances inherit no properties, so every name is an ordinary property, including `__proto__` and
// `constructor`. Creating them is faster than Object.create(null).
const BranchObject = function () {} as unknown as new () => Branch
BranchObject.prototype = Object.create(null)

/**
 * Expands keys at their dots. If a key has both a value and subkeys, the value is stored under "" next to the
 * subkeys.
 */
export function expandMessages(content: readonly KeyValuePair[]): Branch {
  const root = new BranchObject()
  for (const { Key, Value } of content) {
    let branch = root
    const parts = Key.split('.')
    const last = parts.pop() ?? ''
    for (const part of parts) branch = getOrCreateBranch(branch, part)
    const existingValue = branch[last]
    if (typeof existingValue === 'object') existingValue[''] = Value
    else branch[last] = Value
  }
  return root
}

function getOrCreateBranch(parent: Branch, part: string): Branch {
  const existingValue = parent[part]
  if (typeof existingValue === 'object') return existingValue
  const branch = new BranchObject()
  if (existingValue !== undefined) branch[''] = existingValue
  parent[part] = branch
  return branch
}
