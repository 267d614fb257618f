// A proxy request identifies a deployment by `app_id` and `env`, in the query or in a JSON body.

type DeploymentKey = { applicationId: string; environment: string }

const maxLength = 100

/**
 * Returns the requested deployment, or the problem with the request. A parameter that occurs in both the
 * query and the body must have the same value.
 */
export function parseDeploymentKey(query: unknown, body: unknown): DeploymentKey | { problem: string } {
  if (body !== undefined && body !== null && (typeof body !== 'object' || Array.isArray(body)))
    return { problem: 'send a JSON object' }
  const parameters: Record<string, string> = {}
  for (const name of ['app_id', 'env']) {
    const values = [query, body]
      .map((part) => (part as Record<string, unknown> | null | undefined)?.[name])
      .filter((value) => value !== undefined && value !== null && value !== '')
    const [value] = values
    if (value === undefined) return { problem: `${name} is required, in the query or in a JSON body` }
    if (typeof value !== 'string' || values.some((other) => typeof other !== 'string'))
      return { problem: `${name} must be a string` }
    if (values.some((other) => other !== value))
      return { problem: `${name} must be the same in the query and in the body` }
    if (value.length > maxLength) return { problem: `${name} must have at most ${maxLength} characters` }
    parameters[name] = value
  }
  return { applicationId: parameters['app_id'] ?? '', environment: parameters['env'] ?? '' }
}
