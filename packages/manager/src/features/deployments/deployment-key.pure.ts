// A proxy request names a deployment with `app_id` and `env`, in the query or in a JSON body.

type DeploymentKey = { applicationId: string; environment: string }

const maxLength = 100

/**
 * Returns the requested deployment, or the problem with the request. A parameter in both parts must have the same
 * value.
 */
export function parseDeploymentKey(query: unknown, body: unknown): DeploymentKey | { problem: string } {
  if (body !== undefined && body !== null && (typeof body !== 'object' || Array.isArray(body)))
    return { problem: 'send a JSON object' }
  const found: Record<string, string> = {}
  for (const name of ['app_id', 'env']) {
    const given = [query, body]
      .map((part) => (part as Record<string, unknown> | null | undefined)?.[name])
      .filter((value) => value !== undefined && value !== null && value !== '')
    const [value] = given
    if (value === undefined) return { problem: `${name} is required, in the query or in a JSON body` }
    if (typeof value !== 'string' || given.some((other) => typeof other !== 'string'))
      return { problem: `${name} must be a string` }
    if (given.some((other) => other !== value))
      return { problem: `${name} must be the same in the query and in the body` }
    if (value.length > maxLength) return { problem: `${name} must have at most ${maxLength} characters` }
    found[name] = value
  }
  return { applicationId: found['app_id'] ?? '', environment: found['env'] ?? '' }
}
