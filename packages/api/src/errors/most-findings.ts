/** Nobody reads more findings, problems or names of one thing: further ones are counted, or left out. */
export const mostFindings = 100;
