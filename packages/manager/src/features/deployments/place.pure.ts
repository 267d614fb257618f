// Which deployment a request of the proxy is about: `app_id` and `env`, in the query or in a JSON body.

type Place = { applicationId: string; environment: string }

const maxLength = 100

/** The place that a request names, or what is wrong with it. A name in both must be the same. */
export function placeOf(query: unknown, body: unknown): Place | { problem: string } {
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
      return { problem: `${name} must be a text` }
    if (given.some((other) => other !== value))
      return { problem: `${name} must be the same in the query and in the body` }
    if (value.length > maxLength) return { problem: `${name} must have at most ${maxLength} characters` }
    found[name] = value
  }
  return { applicationId: found['app_id'] ?? '', environment: found['env'] ?? '' }
}
