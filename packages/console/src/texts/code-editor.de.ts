// German texts for code-editor.
import type { codeEditor as english } from './code-editor.en.ts'
import type { TextsOf } from './texts.ts'

export const codeEditor: TextsOf<typeof english> = {
  'codeEditor.leaveHint': 'Tab rückt ein. Um den Editor zu verlassen, drücken Sie Escape und dann Tab.',
  'codeEditor.controlCharacter': 'Steuerzeichen',
}
