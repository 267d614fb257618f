// These rules validate the fields of a specification. The workload becomes part of a URL of the orchestrator, so only
// two DNS labels are accepted.
import { badRequest } from '../../platform/errors.ts'
import { checkName, checkText } from '../../platform/inputs/inputs.ts'
import type { SpecificationValues } from './specifications.store.ts'

export type SpecificationInput = {
  readonly [Field in keyof SpecificationValues]?: SpecificationValues[Field] | null
}

const maxReplicas = 1_000
const dnsLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const visible = /^[\u0021-\u007e]+$/

/** Validates a specification and adds defaults for missing fields. Throws for the first invalid field. */
export function checkSpecification(input: SpecificationInput): SpecificationValues {
  const least = checkNumber(input.minReplicas ?? 0, 'minReplicas', [0, maxReplicas])
  const highest = checkNumber(input.maxReplicas ?? Math.max(1, least), 'maxReplicas', [1, maxReplicas])
  const lowest = input.minReplicas ?? 1
  if (lowest > highest) throw badRequest('minReplicas must not be greater than maxReplicas')
  return {
    workload: checkWorkload(input.workload ?? ''),
    image: checkVisible(checkName(input.image ?? '', 'image', 500), 'image'),
    version: checkText(input.version ?? '', 'version', 100),
    minReplicas: lowest,
    maxReplicas: highest,
    port: checkNumber(input.port ?? 8_080, 'port', [1, 65_535]),
    healthPath: checkHealthPath(input.healthPath ?? '/health'),
    readinessTimeoutSeconds: checkNumber(
      input.readinessTimeoutSeconds ?? 60,
      'readinessTimeoutSeconds',
      [1, 3_600],
    ),
  }
}

/** Splits a workload into its namespace and name. */
export function workloadOf(text: string): { namespace: string; name: string } {
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
  const path = checkVisible(checkName(text, 'healthPath', 200), 'healthPath')
  if (!path.startsWith('/')) throw badRequest('healthPath must start with a slash')
  return path
}

function checkVisible(text: string, field: string): string {
  if (!visible.test(text))
    throw badRequest(`${field} must contain only visible ASCII characters, without spaces`)
  return text
}

function checkNumber(value: number, field: string, [least, most]: readonly [number, number]): number {
  if (value < least || value > most) throw badRequest(`${field} must be from ${least} to ${most}`)
  return value
}
