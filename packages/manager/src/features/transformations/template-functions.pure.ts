// Defines the seven functions that are available to transformation templates.
import type { TemplateFunction } from 'gotemplate'
import { formatGoJson, formatJsonString } from './go-json.pure.ts'

/** The only environment variables that templates may read. */
export const templateVariables = ['SVC_ENV', 'SVC_REGION', 'APP_ENV', 'DEPLOYMENT_ENV'] as const
export type TemplateEnv = { readonly [Name in (typeof templateVariables)[number]]?: string | undefined }

/** Returns the functions. `now` returns the same time in every call of one rendering. */
export function createTemplateFunctions(
  env: TemplateEnv,
  now: () => string,
): Record<string, TemplateFunction> {
  const toJson: TemplateFunction<['any']> = {
    parameters: ['any'],
    call: ([value], context) =>
      formatGoJson(value, {
        step: () => context.charge({ steps: 1 }),
        onNumber: (number, text) => context.noteNumber(number, text),
      }),
  }
  const jsonEscape: TemplateFunction<['any']> = {
    parameters: ['any'],
    call: ([value], context) => {
      const text = context.print(value)
      context.charge({ bytes: text.length })
      return formatJsonString(text).slice(1, -1)
    },
  }
  const toText: TemplateFunction<['any']> = {
    parameters: ['any'],
    call: ([value], context) => context.print(value),
  }
  const toUpper = createMapper(upperPieces, (piece) => piece.toUpperCase())
  const toLower = createMapper(lowerPieces, (piece) => piece.replaceAll('Σ', 'σ').toLowerCase())
  const nowText: TemplateFunction<[]> = { parameters: [], call: () => now() }
  const envText: TemplateFunction<['string']> = {
    parameters: ['string'],
    call: ([key]) => {
      const name = templateVariables.find((variable) => variable === key)
      return name === undefined ? '' : (env[name] ?? '')
    },
  }
  return { toJson, jsonEscape, toString: toText, toUpper, toLower, now: nowText, env: envText }
}

// Go maps one character to one character. Characters that JavaScript maps to several characters stay
// unchanged, and a capital sigma is mapped without regard to its position in a word.
const upperPieces =
  /[^\u00df\u0149\u01f0\u0390\u03b0\u0587\u1e96-\u1e9a\u1f50\u1f52\u1f54\u1f56\u1f80-\u1faf\u1fb2-\u1fb4\u1fb6\u1fb7\u1fbc\u1fc2-\u1fc4\u1fc6\u1fc7\u1fcc\u1fd2\u1fd3\u1fd6\u1fd7\u1fe2-\u1fe4\u1fe6\u1fe7\u1ff2-\u1ff4\u1ff6\u1ff7\u1ffc\ufb00-\ufb06\ufb13-\ufb17]+/g
const lowerPieces = /[^\u0130]+/g

/** Returns a template function that converts the matching pieces of a string. Each piece costs one step. */
const createMapper = (pieces: RegExp, map: (piece: string) => string): TemplateFunction<['string']> => ({
  parameters: ['string'],
  call: ([text], context) => {
    context.charge({ bytes: text.length })
    return text.replace(pieces, (piece) => {
      context.charge({ steps: 1 })
      return map(piece)
    })
  },
})
