/** Returns the cluster slot of a key: the CRC16 of the text in its first braces, or of the whole key. */
export function computeSlot(key: string): number {
  const openIndex = key.indexOf('{')
  const closeIndex = openIndex === -1 ? -1 : key.indexOf('}', openIndex + 1)
  return crc16(Buffer.from(closeIndex > openIndex + 1 ? key.slice(openIndex + 1, closeIndex) : key)) % 16_384
}

/** CRC-16/XMODEM. */
function crc16(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
    crc &= 0xffff
  }
  return crc
}
