// Shifts the clock of the process by CLOCK_SHIFT_MS, forward or backward. Node loads this file before the
// service (`node --import`).
const shiftMs = Number(process.env['CLOCK_SHIFT_MS'])
const MachineDate = Date

globalThis.Date = class extends MachineDate {
  constructor(...values: unknown[]) {
    if (values.length === 0) super(MachineDate.now() + shiftMs)
    else super(...(values as [number]))
  }
  static override now(): number {
    return MachineDate.now() + shiftMs
  }
} as DateConstructor
