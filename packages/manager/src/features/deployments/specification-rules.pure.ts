// These rules validate the fields of a deployment specification. The workload becomes part of an orchestrator URL, so
// each of its two parts must be a DNS label.
import { badRequest } from '../../platform/errors.ts'
import { checkInput } from '../../platform/inputs/fields.ts'
import { checkName, checkText } from '../../platform/inputs/inputs.ts'
import type { SpecificationValues } from './specifications.store.ts'

export type SpecificationInput = {
  readonly [Field in keyof SpecificationValues]?: SpecificationValues[Field] | null
}

const maxReplicas = 1_000
const dnsLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const visible = /^[\u0021-\u007e]+$/

/** Validates a specification and adds defaults for missing fields. */
export function checkSpecification(input: SpecificationInput): SpecificationValues {
  const minCount = input.minReplicas ?? 1
  const maxCount = input.maxReplicas ?? Math.min(maxReplicas, Math.max(1, minCount))
  const isMaxValid = maxCount >= 1 && maxCount <= maxReplicas
  return checkInput({
    minReplicas: () => {
      checkNumber(minCount, 'minReplicas', [0, maxReplicas])
      if (isMaxValid && minCount > maxCount)
        throw badRequest('minReplicas must not be greater than maxReplicas')
      return minCount
    },
    maxReplicas: () => checkNumber(maxCount, 'maxReplicas', [1, maxReplicas]),
    workload: () => checkWorkload(input.workload ?? ''),
    image: () => checkVisibleCharacters(checkName(input.image ?? '', 'image', 500), 'image'),
    version: () => checkText(input.version ?? '', 'version', 100),
    port: () => checkNumber(input.port ?? 8_080, 'port', [1, 65_535]),
    healthPath: () => checkHealthPath(input.healthPath ?? '/health'),
    readinessTimeoutSeconds: () =>
      checkNumber(input.readinessTimeoutSeconds ?? 60, 'readinessTimeoutSeconds', [1, 3_600]),
  })
}

/** Splits a workload into its namespace and name. */
export function parseWorkload(text: string): { namespace: string; name: string } {
  const [namespace = '', name = ''] = text.split('/')
  return { namespace, name }
}

function checkWorkload(text: string): string {
  const parts = text.length > 127 ? [] : text.split('/')
  if (parts.length !== 2 || !parts.every((part) => dnsLabel.test(part)))
    throw badRequest(
      'workload must be namespace/name, each 1 to 63 lower-case letters, digits or hyphens, without a hyphen at either end',
    )
  return text
}

function checkHealthPath(text: string): string {
  const path = checkVisibleCharacters(checkName(text, 'healthPath', 200), 'healthPath')
  if (!path.startsWith('/')) throw badRequest('healthPath must start with a slash')
  return path
}

function checkVisibleCharacters(text: string, field: string): string {
  if (!visible.test(text))
    throw badRequest(`${field} must contain only visible ASCII characters, without spaces`)
  return text
}

function checkNumber(value: number, field: string, [minimum, maximum]: readonly [number, number]): number {
  if (value < minimum || value > maximum) throw badRequest(`${field} must be from ${minimum} to ${maximum}`)
  return value
}
