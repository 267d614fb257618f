// The rules for keys and translations. The API checks them again; here, they are reported before anything is saved.
import type { TextKey } from '../../texts/texts.ts'

const maxLength = 500
const maxParts = 20
// eslint-disable-next-line no-control-regex -- the expression must match control characters
const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/

const isBroken = (text: string): boolean => controlCharacters.test(text) || !text.isWellFormed()

export type KeyProblem = Extract<TextKey, `languagePacks.key.${string}`>

/** Returns why a key is not allowed, or null. */
export function findKeyProblem(key: string): KeyProblem | null {
  const parts = key.split('.')
  if (key.trim() === '') return 'languagePacks.key.empty'
  if (Array.from(key).length > maxLength) return 'languagePacks.key.long'
  if (parts.includes('')) return 'languagePacks.key.emptyPart'
  if (parts.length > maxParts) return 'languagePacks.key.manyParts'
  if (isBroken(key)) return 'languagePacks.key.characters'
  // Frontends that merge translations would change the prototype of all their objects.
  const changesPrototype = parts.some(
    (part, index) => part === '__proto__' || (part === 'constructor' && parts[index + 1] === 'prototype'),
  )
  return changesPrototype ? 'languagePacks.key.reserved' : null
}

/** Returns whether the API stores this text. */
export const isValidText = (text: string): boolean => !isBroken(text)
