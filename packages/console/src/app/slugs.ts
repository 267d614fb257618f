// Slugs: the part of an address that names an object.

/** Suggests a slug for a name: lower-case letters, digits and hyphens, at most 64 characters. */
export const suggestSlug = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-|-$/g, '')
