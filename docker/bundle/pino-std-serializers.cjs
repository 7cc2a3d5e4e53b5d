/** Stands in for pino-std-serializers in the bundle: posidle logs no errors and no requests as objects. */
module.exports = { err: (error) => error };
