// A proxy request identifies a deployment by `app_id` and `env`, in the query or in a JSON body.
import { badRequest } from '../../platform/errors.ts'
import { checkFields } from '../../platform/inputs/fields.ts'

type DeploymentKey = { applicationId: string; environment: string }

const maxLength = 100

/**
 * Returns the requested deployment. A parameter that occurs in both the query and the body must have the same value.
 */
export function parseDeploymentKey(query: unknown, body: unknown): DeploymentKey {
  if (body !== undefined && body !== null && (typeof body !== 'object' || Array.isArray(body)))
    throw badRequest('send a JSON object')
  const parameters = checkFields({
    app_id: () => readParameter('app_id', [query, body]),
    env: () => readParameter('env', [query, body]),
  })
  return { applicationId: parameters.app_id, environment: parameters.env }
}

function readParameter(name: string, parts: readonly unknown[]): string {
  const values = parts
    .map((part) => (part as Record<string, unknown> | null | undefined)?.[name])
    .filter((value) => value !== undefined && value !== null && value !== '')
  const [value] = values
  if (value === undefined) throw badRequest(`${name} is required, in the query or in a JSON body`)
  if (typeof value !== 'string' || values.some((other) => typeof other !== 'string'))
    throw badRequest(`${name} must be a string`)
  if (values.some((other) => other !== value))
    throw badRequest(`${name} must be the same in the query and in the body`)
  if (value.length > maxLength) throw badRequest(`${name} must have at most ${maxLength} characters`)
  return value
}
