// The values of the form for a specification. Numbers stay text until the form is sent, so that a person can type them.
import type { FieldProblem } from '@manager/client'
import type { Failure } from '../../api/failures.ts'
import type { Specification } from './deployment-types.ts'

const textFields = ['workload', 'image', 'version', 'healthPath'] as const
const numberFields = ['minReplicas', 'maxReplicas', 'port', 'readinessTimeoutSeconds'] as const
export type FieldName = (typeof textFields)[number] | (typeof numberFields)[number]
export type SpecificationValues = Readonly<Record<FieldName, string>>

/** The order of the fields in the form. */
export const fieldNames: readonly FieldName[] = [
  'workload',
  'image',
  'version',
  'minReplicas',
  'maxReplicas',
  'port',
  'healthPath',
  'readinessTimeoutSeconds',
]

/** The values that the API would choose for a new specification. */
const newValues: SpecificationValues = {
  workload: '',
  image: '',
  version: '',
  minReplicas: '1',
  maxReplicas: '1',
  port: '8080',
  healthPath: '/health',
  readinessTimeoutSeconds: '60',
}

export const readValues = (specification: Specification | null): SpecificationValues =>
  specification === null
    ? newValues
    : (Object.fromEntries(
        fieldNames.map((name) => [name, String(specification[name])]),
      ) as SpecificationValues)

type Input = Readonly<Record<(typeof textFields)[number], string>> &
  Readonly<Record<(typeof numberFields)[number], number>>

/** The largest number that the API can read. A larger one is sent as this one, so that the API states its range. */
const maxNumber = 2_147_483_647

/** Converts the values for the API. Returns the fields that contain no whole number, if there are any. */
export function toInput(
  values: SpecificationValues,
  wholeNumber: string,
): { readonly input: Input } | { readonly problems: readonly FieldProblem[] } {
  const problems = numberFields
    .filter((name) => !/^-?\d{1,15}$/.test(values[name].trim()))
    .map((path) => ({ path, message: wholeNumber }))
  if (problems.length > 0) return { problems }
  const toNumber = (name: (typeof numberFields)[number]): number =>
    Math.max(-maxNumber, Math.min(maxNumber, Number(values[name])))
  const texts = Object.fromEntries(textFields.map((name) => [name, values[name].trim()]))
  const numbers = Object.fromEntries(numberFields.map((name) => [name, toNumber(name)]))
  return { input: { ...texts, ...numbers } as Input }
}

/** The fields that are valid or invalid together with a field. */
const listRelated = (name: string): readonly string[] =>
  name === 'minReplicas' || name === 'maxReplicas' ? ['minReplicas', 'maxReplicas'] : [name]

/**
 * Drops the errors of fields that were edited after the response. The browser would not send a form with an invalid
 * field, even if the person has corrected it by editing a related field.
 */
export function dropEdited(failure: Failure | null, edited: ReadonlySet<string>): Failure | null {
  if (failure === null || failure.fields.length === 0) return failure
  const dropped = new Set([...edited].flatMap(listRelated))
  const fields = failure.fields.filter(({ path }) => !dropped.has(path.replace(/^input\./, '')))
  return fields.length === 0 ? null : { ...failure, fields }
}
