// English texts for code-editor.

export const codeEditor = {
  'codeEditor.leaveHint': 'Tab indents. To leave the editor, press Escape, then Tab.',
  'codeEditor.controlCharacter': 'Control character',
}
