// JSON of very many lists and objects, which takes some thirty times the memory of its text when it is read.

export const maxContainers = 1_000_000

/** Whether the lists and objects of a JSON text may be too many. */
export function isCrowded(bytes: Uint8Array): boolean {
  if (bytes.length <= maxContainers) return false
  let containers = 0
  for (let i = 0; i < bytes.length; i++) if (bytes[i] === 0x5b || bytes[i] === 0x7b) containers++
  return containers > maxContainers
}
