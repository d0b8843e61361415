/** The version of the interface: a breaking change increments the first number, an addition the second. */
export const API_VERSION = '1.0.0';
