// The seven functions that transformation templates know.
import type { TemplateFunction } from 'gotemplate'
import { goJson, jsonString } from './go-json.ts'

/** Environment variables that templates may read; there is no way to any other. */
const templateVariables = ['SVC_ENV', 'SVC_REGION', 'APP_ENV', 'DEPLOYMENT_ENV'] as const
export type TemplateEnv = { readonly [Name in (typeof templateVariables)[number]]?: string | undefined }

/** `now` is the time of the rendering, the same at every call. */
export function templateFunctions(env: TemplateEnv, now: () => string): Record<string, TemplateFunction> {
  const toJson: TemplateFunction<['any']> = {
    parameters: ['any'],
    call: ([value], context) => goJson(value, () => context.charge({ steps: 1 })),
  }
  const jsonEscape: TemplateFunction<['any']> = {
    parameters: ['any'],
    call: ([value], context) => jsonString(context.print(value)).slice(1, -1),
  }
  const toText: TemplateFunction<['any']> = {
    parameters: ['any'],
    call: ([value], context) => context.print(value),
  }
  const toUpper: TemplateFunction<['string']> = {
    parameters: ['string'],
    call: ([text]) => mapped(text, (character) => character.toUpperCase()),
  }
  const toLower: TemplateFunction<['string']> = {
    parameters: ['string'],
    call: ([text]) => mapped(text, (character) => character.toLowerCase()),
  }
  const nowText: TemplateFunction<[]> = { parameters: [], call: () => now() }
  const envText: TemplateFunction<['string']> = {
    parameters: ['string'],
    call: ([key]) => {
      const name = templateVariables.find((known) => known === key)
      return name === undefined ? '' : (env[name] ?? '')
    },
  }
  return { toJson, jsonEscape, toString: toText, toUpper, toLower, now: nowText, env: envText }
}

/** Go maps one character to one character; where JavaScript has several, Go keeps the first. */
function mapped(text: string, map: (character: string) => string): string {
  return Array.from(text, (character) => {
    const other = map(character)
    return Array.from(other).length === 1 ? other : character
  }).join('')
}
