// Parsed JSON with very many lists and objects needs about 30 times as much memory as its text.

export const maxContainers = 1_000_000

/** Returns whether the JSON may have too many lists and objects. Brackets in strings count too. */
export function hasTooManyContainers(bytes: Uint8Array): boolean {
  if (bytes.length <= maxContainers) return false
  let containers = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0x5b || bytes[i] === 0x7b) containers++
  return containers > maxContainers
}
